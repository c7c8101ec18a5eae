"""Entry point of ``nlptx`` and ``python -m nlptx``."""

import gc
import signal

# Number of new objects after which the garbage collector runs.
_GC_THRESHOLD = 50_000


def main() -> None:
    """Run the command in ``sys.argv``, and exit with its exit code."""
    # Let Ctrl-C end the program silently during the imports; otherwise it would print a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    # The imports create many objects, and nearly all of them are needed until the program ends. With the default
    # threshold of 700 new objects, garbage collection would take a tenth of the start-up time.
    gc.set_threshold(_GC_THRESHOLD)
    from nlptx.runtime.allocator import save_address_space
    from nlptx.runtime.blas import use_one_blas_thread

    use_one_blas_thread()
    save_address_space()
    from nlptx.cli.main import main as run

    try:
        run()
    finally:
        gc.freeze()  # keeps the interpreter from searching all objects for garbage at exit


if __name__ == "__main__":
    main()
