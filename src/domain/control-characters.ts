/**
 * For a class of a regular expression. The patterns of schemas are documented, and have to compile in every language:
 * `\0` is an error in Java, `\p{Cc}` in Python, and in JavaScript without the flag `u`.
 */
export const CONTROL_CHARACTERS = String.raw`\x00-\x1f\x7f-\x9f`;
