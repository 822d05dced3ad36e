import { Presets, SingleBar } from "cli-progress";
import type { Terminal } from "../terminal.ts";

/**
 * Shows progress with an estimate of the remaining time, on a terminal only. The total may become known only
 * while the work runs.
 */
export async function withProgress<Result>(
  { stderr }: Terminal,
  work: (progressed: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  if (!stderr.isTTY) return work(() => {});
  const format = "{bar} {percentage} %   {value} of {total}, about {eta_formatted} left";
  const bar = new SingleBar({ format, stream: stderr, clearOnComplete: true }, Presets.rect);
  bar.start(0, 0);
  try {
    return await work((doneCount, total) => {
      if (total !== bar.getTotal()) bar.setTotal(total);
      bar.update(doneCount);
    });
  } finally {
    bar.stop();
  }
}

const LINE_EVERY = 10_000;

/** Shows how much has been done, for work whose total is unknown. */
export async function withCounter<Result>(
  { stderr }: Terminal,
  work: (progressed: (done: number) => void) => Promise<Result>,
): Promise<Result> {
  const { isTTY } = stderr;
  let shownCount = 0;
  try {
    return await work((readCount) => {
      if (isTTY) stderr.write(`\r${readCount} read`);
      else if (readCount - shownCount >= LINE_EVERY) {
        shownCount = readCount;
        stderr.write(`${readCount} read\n`);
      }
    });
  } finally {
    if (isTTY) stderr.write("\r\x1b[K");
  }
}

const UPDATE_EVERY_MS = 100;

/** Shows the progress of work that counts what it has done by itself. */
export function withPolledProgress<Result>(
  terminal: Terminal,
  { total, done }: { total: number; done: () => number },
  work: () => Promise<Result>,
): Promise<Result> {
  return withProgress(terminal, async (progressed) => {
    const timer = setInterval(() => progressed(done(), total), UPDATE_EVERY_MS);
    return work().finally(() => clearInterval(timer));
  });
}
