import type { Context } from "hono";

/** A form-encoded body with names such as `line_items[0][price]`. */
export type Form = {
  /** `null`: absent or empty. */
  text(name: string): string | null;
  has(name: string): boolean;
  wholeNumber(name: string): number | null;
  /** The entries below a name, e.g. `metadata[userId]`. */
  entries(name: string): Record<string, string>;
};

export async function readForm(c: Context): Promise<Form> {
  const fields = new URLSearchParams(await c.req.text());
  const text = (name: string) => fields.get(name) || null;
  return {
    text,
    has: (name) => fields.has(name),
    wholeNumber: (name) => {
      const digits = text(name);
      if (digits === null) return null;
      return /^\d{1,12}$/.test(digits) ? Number(digits) : Number.NaN;
    },
    entries: (name) =>
      Object.fromEntries(
        [...fields]
          .filter(([field]) => field.startsWith(`${name}[`) && field.endsWith("]"))
          .map(([field, value]) => [field.slice(name.length + 1, -1), value])
          .filter(([key]) => !key?.includes("[")),
      ),
  };
}
