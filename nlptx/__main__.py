"""``python -m nlptx``."""

from nlptx.cli import main

if __name__ == "__main__":
    main()
