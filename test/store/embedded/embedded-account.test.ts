import { expect, it } from "vitest";
import { reasonOfFailure } from "../../../src/store/embedded/embedded-account.ts";

it.each([
  [
    [
      'performing post-bootstrap initialization ... 2026-11-23 15:49:50.740 UTC [25204] FATAL:  could not write to file "base/4/3394_vm": No space left on device',
      "2026-11-23 15:49:50.740 UTC [25204] STATEMENT:  CREATE DATABASE template0",
      "child process exited with exit code 1",
      'initdb: removing data directory "/data/postgres/cluster.1"',
    ],
    'could not write to file "base/4/3394_vm": No space left on device',
  ],
  [
    ['initdb: error: could not create directory "/data": Permission denied', "initdb: hint: ask somebody"],
    'could not create directory "/data": Permission denied',
  ],
  [["pg_ctl: could not start server", "Examine the log output."], "Examine the log output."],
])("finds the line of a failed command that says why", (lines, reason) => {
  expect(reasonOfFailure({ stderr: lines.join("\n"), message: "Command failed" })).toBe(reason);
});
