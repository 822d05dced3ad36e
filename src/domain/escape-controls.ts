/**
 * What JSON leaves as it is, although a terminal obeys it (C1 controls, as escape sequences of one character), a reader of
 * lines ends one there (U+0085, U+2028, U+2029), or what follows is shown in another order.
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
