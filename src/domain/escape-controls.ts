/**
 * Characters that JSON leaves as they are, but that a terminal obeys (C1 controls: escape sequences of one character), that
 * end a line for some readers (U+0085, U+2028, U+2029), or that show what follows in another order.
 */
const OBEYED = String.raw`[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]`;

const IS_OBEYED = new RegExp(OBEYED);
const EACH_OBEYED = new RegExp(OBEYED, "g");

/** JSON that means the same, without them: such characters stand in strings alone. */
export function escapeControls(json: string): string {
  if (!IS_OBEYED.test(json)) return json;
  return json.replace(
    EACH_OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
