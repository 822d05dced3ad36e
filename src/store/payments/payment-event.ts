/**
 * SQL: what an event says of a payment, as REST shows it. Without its payer, who is redacted with the account, an event has
 * no receipt, which shows their name.
 * @param payment a row of `payment`
 * @param subscriptionId the id of its subscription, if that is known
 * @param payer the user's id, if that is known
 */
export function paymentEventData(payment: string, subscriptionId: string, payer: string): string {
  return `json_build_object('userId', ${payer}, 'payment', json_build_object(
      'id', ${payment}.id, 'provider', ${payment}.provider, 'providerPaymentId', ${payment}.provider_payment_id,
      'subscriptionId', ${subscriptionId}, 'amount', ${payment}.amount, 'currency', ${payment}.currency,
      'status', ${payment}.status, 'receiptUrl', case when ${payer} is not null then ${payment}.receipt_url end,
      'occurredAt', to_char(${payment}.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ))`;
}

/** SQL: the type of the event that says so. */
export function paymentEventType(payment: string): string {
  return `'payment.' || case ${payment}.status when 'partly_refunded' then 'refunded' else ${payment}.status end`;
}
