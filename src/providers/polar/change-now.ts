import type { ChangeOrder } from "../../domain/providers/payment-api.ts";
import { isPaymentApiProblem, PaymentApiProblem } from "../../domain/providers/payment-api-problem.ts";
import { sendInTurn } from "../outbound/send-in-turn.ts";
import { minimumSeats } from "./seats.ts";

type Step = ({ product_id: string } | { seats: number }) & { proration_behavior: "invoice" | "prorate" };

type Present = { seats?: number | null; prices?: readonly unknown[] | null };

/**
 * Changes product and seats at once, by a request each. A product is charged for the seats that there are, and fails where
 * its tiers do not cover them: fewer seats come first, as few as the present product allows. What they are worth is left to
 * the product's invoice; where the product is refused, they are put back, and nothing has been charged.
 */
export async function changeNow(
  present: Present,
  { priceId, seats }: Pick<ChangeOrder, "priceId" | "seats">,
  update: (step: Step) => Promise<unknown>,
): Promise<void> {
  const setProduct =
    priceId === null ? [] : [() => update({ product_id: priceId, proration_behavior: "invoice" })];
  const setSeats = seats === null ? [] : [() => update({ seats, proration_behavior: "invoice" })];
  const fewer = priceId === null || seats === null ? null : fewerSeats(present, seats);
  if (fewer === null) return sendInTurn([...setProduct, ...setSeats]);
  const uncharged = (count: number) => update({ seats: count, proration_behavior: "prorate" });
  await uncharged(fewer.before);
  await sendInTurn([
    ...setProduct.map((send) => () => orUndo(send, () => uncharged(fewer.present))),
    ...(fewer.before === seats ? [] : setSeats),
  ]);
}

/** `null`: there are no fewer that the present product allows. */
function fewerSeats(
  { seats: present, prices }: Present,
  seats: number,
): { present: number; before: number } | null {
  if (typeof present !== "number") return null;
  const before = Math.max(seats, minimumSeats(prices ?? []));
  return before < present ? { present, before } : null;
}

/** @throws PaymentApiProblem `incomplete`, with the cause, where the change may have been made, or cannot be undone */
async function orUndo(change: () => Promise<unknown>, undo: () => Promise<unknown>): Promise<void> {
  try {
    await change();
  } catch (error) {
    if (!isPaymentApiProblem(error)) throw error;
    const incomplete = new PaymentApiProblem("incomplete", error.message, { cause: error });
    if (error.failure === "unreachable" || error.failure === "unreadable") throw incomplete;
    await undo().catch(() => {
      throw incomplete;
    });
    throw error;
  }
}
