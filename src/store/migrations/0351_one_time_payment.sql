-- What a single payment has bought ends with its refund: the provider's id of the payment.
alter table subscription add column payment_id text;
