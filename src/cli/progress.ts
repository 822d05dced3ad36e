import { Presets, SingleBar } from "cli-progress";

const LOOK_EVERY_MS = 100;

/** Shows how far some work is while it runs, to somebody who watches; to nobody else. */
export async function withProgress<Result>(
  total: number,
  done: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!process.stderr.isTTY) return work();
  const bar = new SingleBar(
    { format: "{bar} {percentage} %   {value} of {total}", stream: process.stderr, clearOnComplete: true },
    Presets.rect,
  );
  bar.start(total, 0);
  const looking = setInterval(() => bar.update(done()), LOOK_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(looking);
    bar.stop();
  }
}
