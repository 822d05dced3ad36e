import type { DeletionTools } from "../accounts/delete-person.ts";
import { cancelAtProvider } from "../billing/cancel-at-provider.ts";
import { closeOnDeletion } from "../billing/close-on-deletion.ts";
import type { OperatorLog } from "../billing/map-provider-errors.ts";
import type { Runtime } from "./runtime.ts";

/**
 * What deleting an account needs, in a server and in a command.
 * @param log learns of subscriptions that have to be canceled by hand
 */
export function deletionTools(
  { database, intake, payments }: Pick<Runtime, "database" | "intake" | "payments">,
  log: OperatorLog,
): DeletionTools {
  return {
    database,
    intake,
    cancelSubscription: cancelAtProvider({ payments, log }),
    holdCheckout: closeOnDeletion({ database, intake, payments, log }),
  };
}
