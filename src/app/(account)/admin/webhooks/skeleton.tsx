import { Skeleton } from "../../../../ui/skeleton.tsx";
import { TableSkeleton } from "../../../../ui/table-skeleton.tsx";

export function WebhooksSkeleton() {
  return (
    <>
      <div className="mb-6 flex justify-between gap-4">
        <Skeleton className="h-9 w-40" />
        <Skeleton className="h-9 w-20" />
      </div>
      <Skeleton className="mb-6 h-80 w-full" />
      <Skeleton className="mb-4 h-16 w-full" />
      <TableSkeleton rows={10} />
    </>
  );
}
