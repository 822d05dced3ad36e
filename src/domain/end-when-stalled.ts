/** A step between two questions is a few statements or requests to a provider, which all end within a minute. */
export const STALLED_AFTER_MS = 10 * 60 * 1000;

/**
 * Does `work`, and gives it up once it has not asked `isStopping` for ten minutes: an answer that never comes
 * must not keep it from being done again. From then on `isStopping` is true, so that work which goes on after
 * all ends soon.
 * @throws Error that it was given up; what `work` throws
 */
export async function endWhenStalled<Result>(
  isStopping: () => boolean,
  work: (isStopping: () => boolean) => Promise<Result>,
): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  let isStalled = false;
  try {
    return await new Promise<Result>((resolve, reject) => {
      const giveUp = () => {
        isStalled = true;
        reject(new Error(`given up: nothing has happened for ${STALLED_AFTER_MS / 60_000} minutes`));
      };
      timer = setTimeout(giveUp, STALLED_AFTER_MS).unref();
      const asked = () => {
        if (!isStalled) timer?.refresh();
        return isStalled || isStopping();
      };
      work(asked).then(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
  }
}
