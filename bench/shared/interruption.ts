const controller = new AbortController();

/**
 * Aborted by Ctrl-C or SIGTERM: whoever waits gives up, so that servers, databases and files are cleared
 * away.
 */
export const interruption = controller.signal;

export function listenForInterruption(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => controller.abort(new Error("interrupted")));
  }
}
