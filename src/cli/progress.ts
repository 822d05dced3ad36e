import { Presets, SingleBar } from "cli-progress";

const UPDATE_EVERY_MS = 100;

/** Shows how far some work is, with an estimate of what is left, where its total is known only once it runs. */
export async function withProgress<Result>(
  work: (progressed: (done: number, total: number) => void) => Promise<Result>,
): Promise<Result> {
  if (!process.stderr.isTTY) return work(() => {});
  const format = "{bar} {percentage} %   {value} of {total}, about {eta_formatted} left";
  const bar = new SingleBar({ format, stream: process.stderr, clearOnComplete: true }, Presets.rect);
  bar.start(0, 0);
  try {
    return await work((done, total) => {
      if (total !== bar.getTotal()) bar.setTotal(total);
      bar.update(done);
    });
  } finally {
    bar.stop();
  }
}

/** Shows how far some work is while it runs, to somebody who watches; to nobody else. */
export async function withKnownTotal<Result>(
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
  const timer = setInterval(() => bar.update(done()), UPDATE_EVERY_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    bar.stop();
  }
}
