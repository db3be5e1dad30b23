# Everything a newcomer needs: `make demo` and `make test`. Both make the environment first.
.PHONY: demo quick test check venv python clean

demo:
	@python=$$(scripts/make-venv) && $$python -m rsibench run pocket --researcher feedback

quick:
	@python=$$(scripts/make-venv) && $$python -m rsibench run pocket --researcher feedback --quick

test:
	@python=$$(scripts/make-venv) && PYTHON_BIN=$$(dirname $$python) scripts/check && $$python -m pytest

check:
	@python=$$(scripts/make-venv) && PYTHON_BIN=$$(dirname $$python) scripts/check

venv:
	@scripts/make-venv >/dev/null

python:
	@scripts/make-venv

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
