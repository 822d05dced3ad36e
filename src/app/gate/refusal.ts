import { Refusal, type RefusalCode } from "../../domain/refusal.ts";

/** A refusal as pages meet it. */
export type PageRefusal = Error & {
  code: RefusalCode;
  /** Until the same may be tried again, when that is known. */
  retryAfterSeconds?: number;
  digest?: string;
};

export function refusalOf(error: unknown): PageRefusal | null {
  return error instanceof Refusal ? error : null;
}
