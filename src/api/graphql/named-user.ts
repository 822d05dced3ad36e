import { NAMED_USER } from "../../operations/on-behalf.ts";
import { builder } from "./builder.ts";

/** Arguments of every field that a service key may ask for. */
export const namedUser = builder.args((t) => ({
  user: t.id({ description: NAMED_USER.user.description ?? "" }),
  externalId: t.string({ description: NAMED_USER.externalId.description ?? "" }),
}));
