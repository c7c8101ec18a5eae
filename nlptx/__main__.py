"""Entry point of ``nlptx`` and ``python -m nlptx``."""

import signal


def main() -> None:
    """Run the command in ``sys.argv``, and exit with its exit code."""
    # Let Ctrl-C end the program silently during the imports; otherwise it would print a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from nlptx.runtime.allocator import save_address_space
    from nlptx.runtime.blas import use_one_blas_thread

    use_one_blas_thread()
    save_address_space()
    from nlptx.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
