import { getTranslations } from "next-intl/server";
import { listPayments } from "../../../operations/payments/list-payments.ts";
import { Card } from "../../../ui/card.tsx";
import { EmptyState } from "../../../ui/empty-state.tsx";
import { Pager } from "../../../ui/pager.tsx";
import { read } from "../../gate/read.ts";
import { PaymentList } from "./payment-list.tsx";

const PER_PAGE = 10;

/** The user's own payments, with their receipts. */
export async function Payments({ cursor }: { cursor: string | null }) {
  const [t, page] = await Promise.all([
    getTranslations("billing.payments"),
    read(listPayments, { limit: PER_PAGE, cursor }),
  ]);
  return (
    <Card title={t("title")}>
      {page.items.length === 0 ? (
        <EmptyState title={t("empty")} description={t("emptyAbout")} />
      ) : (
        <PaymentList payments={page.items} />
      )}
      <Pager
        path="/billing"
        place="payments"
        parameter="payments"
        cursor={cursor}
        nextCursor={page.nextCursor}
      />
    </Card>
  );
}
