/** `skipped`: nothing is wrong, there was nothing to look at. */
export type State = "good" | "warning" | "broken" | "skipped";

/** What one look has found. */
export type Finding = {
  /** What was looked at, the same each time: `database`, `provider-a key`. */
  check: string;
  state: State;
  /** What was seen, in a few words. */
  seen: string;
  /** What to do about it; `null` when there is nothing to do. */
  remedy: string | null;
};

export function good(check: string, seen: string): Finding {
  return { check, state: "good", seen, remedy: null };
}

export function skipped(check: string, seen: string): Finding {
  return { check, state: "skipped", seen, remedy: null };
}

export function warning(check: string, seen: string, remedy: string): Finding {
  return { check, state: "warning", seen, remedy };
}

export function broken(check: string, seen: string, remedy: string): Finding {
  return { check, state: "broken", seen, remedy };
}
