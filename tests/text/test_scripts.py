"""Texts without spaces between words are recognised."""

import pytest

from nlptx.text.scripts import lack_spaces


def counts(text):
    found = {}
    for word in text.encode().split():
        found[word] = found.get(word, 0) + 1
    return found


@pytest.mark.parametrize(
    "text",
    [
        "这部电影非常好看我很喜欢 太无聊了浪费时间 nlptx",
        "这部电影非常好看 ， 我很喜欢 太无聊了浪费时间 ， 不推荐",
        "หนังเรื่องนี้สนุกมาก ฉันชอบนักแสดงทุกคน",
        "この映画はとても面白かったです 俳優たちの演技が素晴らしい",
    ],
)
def test_sentences_without_spaces(text):
    assert lack_spaces(counts(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I loved this film , and so did my friends",
        "Фильм очень хороший , мне понравилось",
        "这 部 电影 非常 好看 我 很 喜欢",
        "หนัง เรื่อง นี้ สนุก มาก ฉัน ชอบ นัก แสดง ทุก คน",
        "この 映画 は とても 面白かった です",
        "the title is 我很喜欢这部电影非常好看 and the film is good , but a little long and slow",
    ],
)
def test_texts_with_spaces(text):
    assert not lack_spaces(counts(text))
