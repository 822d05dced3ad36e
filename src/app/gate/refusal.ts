import type { RefusalCode } from "../../domain/refusal.ts";

/** A refusal as pages meet it. By its name, as a class of another bundle is another class. */
export type PageRefusal = Error & {
  code: RefusalCode;
  /** Until the same may be tried again, when that is known. */
  retryAfterSeconds?: number;
  digest?: string;
};

export function refusalOf(error: unknown): PageRefusal | null {
  return error instanceof Error && error.name === "Refusal" ? (error as PageRefusal) : null;
}
