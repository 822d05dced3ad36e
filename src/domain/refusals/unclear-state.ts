import { z } from "zod";

/** Why a subscription could not be compared with its provider. */
const UNCLEAR_STATES = {
  no_provider_id: () => "no event has named its id at the provider yet",
  not_at_provider: () => "the provider knows no subscription by this id",
  plan_unknown: (name: string) => `there is no plan "${name}"`,
  price_unknown: (name: string) => `no plan has the price "${name}"`,
  no_plan: () => "the provider names neither a plan nor a price",
  no_information: () => "the provider's answer says nothing about it",
  keeps_changing: () => "new events keep arriving",
  gone: () => "there is no such subscription any more",
} as const;

export const UnclearState = z.object({
  cause: z.enum(Object.keys(UNCLEAR_STATES) as (keyof typeof UNCLEAR_STATES)[]),
  /** The plan or price that is not known. */
  name: z.string().optional(),
});

export type UnclearState = z.output<typeof UnclearState>;

export function unclearStateSentence({ cause, name = "" }: UnclearState): string {
  return UNCLEAR_STATES[cause](name);
}
