/** Where a command runs; `process` is one. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  exitCode?: string | number | null | undefined;
};
