/**
 * A command whose output cannot be written, as on a full disk, says so on stderr and fails. A reader such as
 * `head` may end before the command does, and stderr has no other place to report to.
 */
export function reportOutputErrors(): void {
  process.stderr.on("error", () => {});
  process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") return;
    process.stderr.write(`the output could not be written: ${message}\n`);
    process.exitCode = 1;
  });
}
