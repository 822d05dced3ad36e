const ROUNDS = 5;

/**
 * Reads what is stored here and at the provider, both again while an event is applied in between: the two belong to
 * the same time, and what differs then differs. `null`: it is not stored here any more.
 */
export async function readTogether<Ours extends { version: string }, Theirs>(
  findOurs: () => Promise<Ours | null>,
  fetchTheirs: () => Promise<Theirs>,
): Promise<{ ours: Ours; theirs: Theirs } | "keeps_changing" | null> {
  let ours = await findOurs();
  for (let round = 1; round <= ROUNDS && ours !== null; round += 1) {
    const theirs = await fetchTheirs();
    const after = await findOurs();
    if (after?.version === ours.version) return { ours, theirs };
    ours = after;
  }
  return ours === null ? null : "keeps_changing";
}
