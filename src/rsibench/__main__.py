"""`python -m rsibench` is the `rsibench` command."""

from rsibench.cli.main import main

if __name__ == "__main__":
    main()
