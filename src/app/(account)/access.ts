import { cache } from "react";
import { showAccess } from "../../operations/subscriptions/show-access.ts";
import { read } from "../gate/read.ts";

/** Which of the user's running subscriptions give access, and what is paid for them; read once per page. */
export const access = cache(async () => (await read(showAccess, {})).items);

/** `undefined`: the subscription is not running. */
export async function accessBy(subscriptionId: string) {
  return (await access()).find((item) => item.subscriptionId === subscriptionId);
}
