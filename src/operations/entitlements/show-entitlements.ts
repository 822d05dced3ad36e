import { z } from "zod";
import { defineOperation } from "../operation.ts";
import {
  currentEntitlements,
  type EntitlementDeps,
  EntitlementsView,
  entitlementsView,
} from "./current-view.ts";

export const showEntitlements = defineOperation({
  name: "entitlements.show",
  summary: "Shows the user's entitlements: every feature, and the rest of each quota",
  access: "person",
  permission: "entitlements:read",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: EntitlementsView,
  run: async (deps: EntitlementDeps, { userId }) => entitlementsView(await currentEntitlements(deps, userId)),
});
