/**
 * Deliveries that changed a subscription are indexed by it within blocks of 262,144 ids: entries of an index
 * by subscription alone would be scattered over all of it, and years of them do not fit into memory. With this
 * condition on the attempt `a` PostgreSQL looks into each block.
 */
export const IS_IN_ANY_BLOCK = `(a.delivery_id >> 18) = any (array(
    select generate_series(0, (select max(id) >> 18 from webhook_delivery))
  ))`;
