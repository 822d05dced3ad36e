import plans from "../../plans.config.ts";
import type { AccessContext } from "../../src/domain/entitlements/granted-access.ts";
import { traitsOf } from "../../src/providers/registry.ts";

/** With the providers that slots have unless configured. */
export const ACCESS_CONTEXT: AccessContext = {
  plans,
  traits: {
    "provider-a": traitsOf("stripe"),
    "provider-b": traitsOf("paddle"),
    "provider-c": traitsOf("polar"),
  },
};
