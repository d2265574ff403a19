#!/bin/sh
# Long kill test: simcore/tests/kill_loop.sh BUILD_FOLDER [KILLS]
set -eu
GPUSIM_KILLS="${2:-200}" "$1/bin/simcore_kill_test"
