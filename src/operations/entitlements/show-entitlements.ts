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
  summary: "Shows what the user may do: every feature, and what is left of each quota",
  access: "person",
  permission: "entitlements:read",
  limit: "api",
  input: z.strictObject({}),
  reasons: [],
  output: EntitlementsView,
  run: async (deps: EntitlementDeps, { userId }) => entitlementsView(await currentEntitlements(deps, userId)),
});
