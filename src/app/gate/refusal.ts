import { Refusal } from "../../domain/refusals/refusal.ts";

/** A refusal as pages receive it. */
export type PageRefusal = Refusal & {
  digest?: string;
};

export function refusalOf(error: unknown): PageRefusal | null {
  return error instanceof Refusal ? error : null;
}
