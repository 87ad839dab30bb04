# Sourced by scripts/run and scripts/test: a virtual environment with the package and the named extras.
# Usage: . scripts/setup.sh; setup_venv "" | "[test]"

setup_venv() {
  local extras=$1 python stamp wanted
  if [ ! -x .venv/bin/python ]; then
    python=$(find_python) || { echo "Fabric Advisor needs Python 3.11 or newer; install it and run this again." >&2; exit 2; }
    echo "Creating .venv with $($python --version)" >&2
    "$python" -m venv .venv || { echo "Cannot create .venv here; is the folder writable, and the venv module installed?" >&2; exit 2; }
  fi
  stamp=".venv/.installed${extras//[^a-z-]/_}"
  wanted=$(cksum < pyproject.toml)
  if [ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ]; then
    echo "Installing packages (once; a few minutes at most)" >&2
    .venv/bin/python -m pip install --quiet --disable-pip-version-check -e ".$extras" || {
      echo "Packages could not be installed; see the lines above." >&2; exit 2; }
    echo "$wanted" > "$stamp"
  fi
}

find_python() {
  local candidate
  for candidate in python3.13 python3.12 python3.11 python3 python; do
    if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$candidate"
      return 0
    fi
  done
  return 1
}
