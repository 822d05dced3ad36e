import { builder } from "./builder.ts";

/** Arguments of every field that a service key may ask for. */
export const namedUser = builder.args((t) => ({
  user: t.id({ description: "For service keys: the id of the user to act for." }),
  externalId: t.string({ description: "For service keys: that user's id in the other system instead." }),
}));
