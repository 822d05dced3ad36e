// JSON text never contains raw control characters, so payloads can be joined without quoting.
export const SEPARATOR = "\u001e";
