"""`python -m conquer` is the `conquer` command."""

from conquer.cli import main

if __name__ == "__main__":
    main()
