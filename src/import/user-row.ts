import { z } from "zod";
import { LOCALES, supportedLocale } from "../domain/locale.ts";
import { EmailAddress } from "../domain/users/email-address.ts";
import { ExternalId } from "../domain/users/external-id.ts";
import { PersonName } from "../domain/users/person-name.ts";
import type { Unmatched } from "./run-import.ts";

// Other systems leave out, or leave empty, what they do not know.
const ABSENT = { id: null, externalId: null, name: null, locale: null };
const absent = z.union([z.literal(""), z.null()]).transform(() => null);
// JSON has rounded larger integers: they would be somebody else's id.
const text = z.union([z.string(), z.int().transform(String)]);

/** A user of another system. */
const UserRow = z.object({
  // By the rule of external ids, which leaves out what cannot be stored or told apart.
  id: z.union([absent, text.pipe(ExternalId)]),
  externalId: z.union([absent, text.pipe(ExternalId)]),
  email: EmailAddress,
  // A line break in a cell is a space.
  name: z.union([absent, text.transform((name) => name.replace(/\s+/g, " ")).pipe(PersonName)]),
  locale: z.union([absent, text.transform((tag) => supportedLocale(tag) ?? tag).pipe(z.enum(LOCALES))]),
});

export type UserRow = z.output<typeof UserRow>;

/** A user as a source has them. */
export type SourceUser = {
  fields: unknown;
  /** Where in a file, from 1. */
  place?: { line: number } | { item: number };
  /** Why the fields cannot be relied on. */
  problem?: string;
};

/** Reads one row of a file or a table. */
export function readUserRow({
  fields: row,
  place,
  problem,
}: SourceUser): { user: UserRow; place: SourceUser["place"] } | { unmatched: Unmatched } {
  const parsed = UserRow.safeParse(isObject(row) ? { ...ABSENT, ...row } : row);
  if (parsed.success && problem === undefined) return { user: parsed.data, place };
  const fields = isObject(row) ? row : {};
  return {
    unmatched: {
      ...place,
      id: toReportedText(fields.id),
      externalId: toReportedText(fields.externalId),
      email: toReportedText(fields.email),
      reason: problem ?? reasonOf(parsed.error, row),
    },
  };
}

const ID = "1 to 255 characters, without control characters or surrounding spaces";

const EXPECTED: Record<string, string> = {
  id: ID,
  externalId: ID,
  email: "an email address",
  name: "1 to 100 characters, without control characters",
  locale: `one of ${LOCALES.join(", ")}`,
} satisfies Record<keyof UserRow, string>;

function reasonOf(error: z.ZodError | undefined, row: unknown): string {
  const field = String(error?.issues[0]?.path[0] ?? "row");
  const value = isObject(row) ? row[field] : null;
  if (value === undefined) return `${field}: missing`;
  if (typeof value === "number" && EXPECTED[field] === ID)
    return `${field}: expected text, or a whole number up to ${Number.MAX_SAFE_INTEGER}`;
  return `${field}: expected ${EXPECTED[field] ?? "an object"}`;
}

function isObject(row: unknown): row is Record<string, unknown> {
  return typeof row === "object" && row !== null && !Array.isArray(row);
}

function toReportedText(value: unknown): string | null {
  if (value === "") return null;
  return typeof value === "string" || typeof value === "number" ? String(value).slice(0, 300) : null;
}
