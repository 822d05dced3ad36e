/** What a command needs of its process; `process` satisfies it. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  exitCode?: string | number | null | undefined;
};
