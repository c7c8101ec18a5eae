"""Hypothesis strategies for texts that are hard to tokenize."""

from hypothesis import strategies as st

# Characters of contractions, words, punctuation, combining marks and line breaks; drawn in any order.
TRICKY = "nNtT'’sSmMdDrReEvVlL _-.<br/>\n\t\x00\x1c\x7f\x85\xa0\u0301\u200b\u200d\u0939\u093f\u0964éΣσß한👍\ud800İ1"
# Complete contractions and other pieces, because random characters rarely form two adjacent contractions.
PIECES = [
    *("n't", "N'T", "N't", "'s", "'S", "'re", "'RE", "'ve", "'ll", "'m", "'d"),
    *("'", "\u2019", "\u2018", "\u02bc", "\uff07", "`"),
    # Letters with unusual case mappings, some of which map one letter to two characters; and combining characters.
    *("\u017f", "'\u017f", "\u0130", "i\u0307", "\u0131", "\u212a", "\u1e9e", "\u03a3", "\u0301", "\u0307", "\u0338"),
    *("a", "n", "t", "s", "re", "T", "1", "_", "-", ".", " ", "\t", "\x1c", "\x85", "\u2028"),
    *("<br>", "<br />", "<BR\t/>", "<br\u00a0>", "<br", "<b", "r>", ">", "/>", "<br<br>>"),
    *(
        "&amp;",
        "&#39;",
        "&#x27;",
        "&lt;",
        "&gt;",
        "&#98;",
        "&#10;",
        "&NewLine;",
        "&nbsp;",
        "&rsquo;",
        "&shy;",
        "&eacute;",
    ),
    *("&Eacute;", "&#x130;", "&#0;", "&#xd800;", "&#1234567;", "&unknown;", "&amp", "&", "#", ";", "39;"),
    *("\u00ad", "\u200b", "\u200d", "\ufe0f", "\u0939", "\u093f", "\u1100", "\u1161", "\U0001f44d", "\ud800"),
]

# Emoticons, ratings, emoji and other signs that the expressive tokenizer rewrites, their parts, and similar strings.
SIGNS = [
    *(":)", ":-(", ":'(", ";)", ":D", "xD", "XDD", "=)", ":]]", "<3", "</3", "^^", "^_^", ":", ")", "(", "-", "'", "D"),
    *("4/5", "10/10", "8 out of 10", " out of ", "9.5", "/10", "/", "5", "10", "11", "1", "$", "%", ",", "."),
    *("sooo", "GOOOD", "looove", "hmmm", "www.", "xxx", "iii", "mmm", "o", "oo", "l", "Y", "é", "ß", "x"),
    *("NOT", "DO", "BUY THIS", "STOP", "A", "I", "TV", "É", "iPHONE", "DON'T", "#", "@", "#TagOne", "@some_one", "_"),
    *("http://", "https://a.b/C?d=E", "x@y.org", "`", "don`t", "\u00b4", "\u2019", "\u2026", " ", "  ", "\n", "\t"),
    *("★", "★★☆☆☆", "⭐️⭐️", "⭐", "☆", "👍🏽", "👩\u200d💻", "❤️", "💙", "🏳️\u200d🌈", "🇩🇪", "🇫", "🏽", "1️⃣", "⑧"),
    *("<br>", "<br />", "&lt;3", "&#58;)", "\x01", "\x1c", "\xa0", "\ud800", "\u0301", "İ", "\u212a", "Σ"),
]

tricky_texts = (
    st.text(st.sampled_from(TRICKY), max_size=14)
    | st.lists(st.sampled_from(PIECES), max_size=8).map("".join)
    | st.lists(st.sampled_from(SIGNS), max_size=8).map("".join)
    | st.text(max_size=12)
)
