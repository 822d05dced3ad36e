/** `skipped`: not configured, so there was nothing to check. */
export type State = "good" | "warning" | "broken" | "skipped";

/** The result of one check. */
export type Finding = {
  /** The name of the check: `database`, `provider-a key`. */
  check: string;
  state: State;
  /** What was found, in a few words. */
  detail: string;
  /** How to fix it; `null` when there is nothing to fix. */
  remedy: string | null;
};

export function good(check: string, detail: string): Finding {
  return { check, state: "good", detail, remedy: null };
}

export function skipped(check: string, detail: string): Finding {
  return { check, state: "skipped", detail, remedy: null };
}

export function warning(check: string, detail: string, remedy: string): Finding {
  return { check, state: "warning", detail, remedy };
}

export function broken(check: string, detail: string, remedy: string): Finding {
  return { check, state: "broken", detail, remedy };
}
