#!/bin/sh
# Starts $CHROMIUM without the page behind its address bar, which each window loads and no test sees: a quarter of the
# processor time of browser tests. Chromium takes the last --disable-features alone, and Playwright gives one: it is extended.
for argument; do
  shift
  case $argument in --disable-features=*) argument="$argument,WebUIOmniboxPopup,WebUIOmniboxAimPopup" ;; esac
  set -- "$@" "$argument"
done
exec "$CHROMIUM" "$@"
