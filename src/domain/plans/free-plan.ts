/** What everybody has without a subscription: the plan `free`, else the first that costs nothing, if any. */
export function freePlan<Plan extends { id: string; price: { amount: number } }>(
  plans: readonly Plan[],
): Plan | undefined {
  return plans.find(({ id }) => id === "free") ?? plans.find(({ price }) => price.amount === 0);
}
