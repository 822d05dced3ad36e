/**
 * One by one in, many at once out: look-ups of one turn of the event loop travel together, and those that come while
 * others are under way wait for them. What travels was asked for before it left: an answer is never older than its
 * question.
 * @param maxInFlight so many are under way before others wait
 * @param look finds many at once; those it leaves out are not there
 */
export function gathered<Found>(
  maxInFlight: number,
  look: (keys: string[]) => Promise<Map<string, Found>>,
): (key: string) => Promise<Found | undefined> {
  type Question = { resolve(found: Found | undefined): void; reject(error: unknown): void };
  let waiting = new Map<string, Question[]>();
  let inFlight = 0;
  let isPlanned = false;

  const plan = () => {
    if (isPlanned || inFlight >= maxInFlight) return;
    isPlanned = true;
    setImmediate(() => {
      isPlanned = false;
      if (waiting.size > 0) void send();
    });
  };
  const send = async () => {
    inFlight += 1;
    const asked = waiting;
    waiting = new Map();
    try {
      const found = await look([...asked.keys()]);
      for (const [key, questions] of asked) for (const { resolve } of questions) resolve(found.get(key));
    } catch (error) {
      for (const questions of asked.values()) for (const { reject } of questions) reject(error);
    }
    inFlight -= 1;
    if (waiting.size > 0) plan();
  };

  return (key) =>
    new Promise((resolve, reject) => {
      const questions = waiting.get(key);
      if (questions) questions.push({ resolve, reject });
      else waiting.set(key, [{ resolve, reject }]);
      plan();
    });
}
