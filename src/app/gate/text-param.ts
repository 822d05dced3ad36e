/** A query parameter of a page; `null` when it is absent, empty or repeated. */
export function textParam(value: string | string[] | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
