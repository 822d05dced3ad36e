import { z } from "zod";
import { normalizedAddress } from "../domain/users/email-address.ts";

const Ids = z.record(z.string(), z.string().min(1).max(255));

/** Who pays, where the provider does not say. */
export const Mapping = z.strictObject({
  /** The user of a customer id. */
  customers: Ids.default({}),
  /** The user of an address, as the provider has it. */
  emails: Ids.default({}).transform(
    (emails) => new Map(Object.entries(emails).map(([email, id]) => [normalizedAddress(email), id])),
  ),
});

export type Mapping = z.output<typeof Mapping>;

export const NO_MAPPING: Mapping = { customers: {}, emails: new Map() };
