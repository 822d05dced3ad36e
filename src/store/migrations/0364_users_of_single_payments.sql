-- Servers of the release before stored no user of a single payment whose checkout named only the customer.
update payment p set user_id = s.user_id, updated_at = clock_timestamp()
from subscription s
where s.payment_id is not null and s.provider_subscription_id is null and s.user_id is not null
  and p.provider = s.provider and p.provider_payment_id = s.payment_id and p.user_id is null;
